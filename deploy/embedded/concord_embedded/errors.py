"""Why the embedded system cannot start, or be backed up and restored."""


class StartError(Exception):
    """It cannot start; the text says why and what to do."""


class BackupError(Exception):
    """A backup cannot be made or restored; the text says why and what to do.

    `reason`: BACKUP_... or an ErrorReason, for programs.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
