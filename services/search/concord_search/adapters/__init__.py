"""The technologies behind the ports, one package each."""
