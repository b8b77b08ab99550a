"""One module for each command, or for a few commands of one noun, named as commands are typed."""
