"""Benchmarks: `python -m tests.bench [NAME...] [--quick] [--json FILE]`, or `make bench ARGS=...`.

How to read the table. Machines differ and are noisy, so a figure alone says little: what counts is
its **ratio** to a **floor**, the least that the same work could cost here, measured in the same
run. Floor and figure take turns in short rounds, so that a slow second falls on both.

    what     what was measured
    floor    p50 / p95 of the floor (or one number), and what it is
    figure   p50 / p95 of Concord (or one number), in the same unit
    ratio    figure / floor, at the percentile that the bar names
    bar      what design section 7 demands of the ratio, or of the figure where there is no floor
    verdict  met, NOT MET, or - where the design sets no bar

Latencies are those of one closed-loop client in a process of its own, over Unix sockets, with
the replies parsed; servers run on uvloop and log every call, as `concord up` has them do.
A bar that is missed does not fail the run: the exit status is 0, and the last lines list it.

`--quick` uses smaller sizes: it shows that everything works, its ratios prove nothing.
Retrieval needs the evaluation data (setting CONCORD_EVALUATION_DATA, default ../shared/data).
"""
