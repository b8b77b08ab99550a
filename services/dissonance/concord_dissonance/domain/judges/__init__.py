"""How two statements are judged without a model: by their words and by their form."""
