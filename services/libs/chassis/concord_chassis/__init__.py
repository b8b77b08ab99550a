"""How Concord's services speak gRPC; holds no word of what they say.

Rooms: `server` (lifecycle), `stages` (what every call passes, in order), `rules` (the contract's
field rules, compiled), `access` (who may call what), `identity`, `deadline`, `request_id` (facts
of the current call), `failure` (the one exception that the edge knows), `channel` (clients),
`config`, `log`, `metrics` and where they are read, `tracing` and where it goes, `workers`.
"""
