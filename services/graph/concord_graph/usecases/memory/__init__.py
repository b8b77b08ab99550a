"""Commands on memories, their facts, dialogues, episodes, sessions and working memory."""
