"""The Helm chart, rendered and read offline: no cluster was there."""
