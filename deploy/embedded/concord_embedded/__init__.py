"""The whole of Concord in one process, on one data directory.

`up` is what `concord up` runs; `running` is the same system inside a program of yours. Between
the services everything is as in production: real gRPC, on Unix sockets, with real tokens.
"""

from concord_embedded.failures import StartError
from concord_embedded.system import Running, running
from concord_embedded.up import up

__all__ = ["Running", "StartError", "running", "up"]
