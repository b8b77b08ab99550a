"""The distributed system of `deploy/compose.yaml`, built and tested: `make test-compose`."""
