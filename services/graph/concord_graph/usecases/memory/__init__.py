"""Commands on memories, on the facts they state and on the layers around them."""
