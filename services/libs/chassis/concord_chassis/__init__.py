"""The gRPC servers and channels of all services, without the business rules of any.

Modules: `server` (lifecycle), `stages` (what runs before each method, in order), `rules` (the
contract's field rules, compiled), `access` (each method's permission), `identity`, `deadline` and
`request_id` (facts of the current call), `failure` (the one exception with a code and a reason for
the caller), `channel` (calls to other services), `config`, `log`, `metrics` with `metrics_server`,
`tracing` with `trace_exporter`, `background` (tasks that outlive a request, kept alive), and
`workers` (threads for blocking work).
"""
