"""Commands on memories, dialogues, episodes, sessions and working memory."""
