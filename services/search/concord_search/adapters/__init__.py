"""The technologies behind the ports, one room each."""
