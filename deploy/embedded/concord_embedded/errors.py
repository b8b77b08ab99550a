"""Errors of the embedded system's start, and of its backups and restores."""


class StartError(Exception):
    """The system cannot start; the text says why and what to do."""


class BackupError(Exception):
    """A backup cannot be made or restored; the text says why and what to do.

    `reason`: BACKUP_... or an ErrorReason, for programs.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
