"""`python -m concord_client` is the `concord` command."""

from concord_client.cli import main

if __name__ == "__main__":
    main()
