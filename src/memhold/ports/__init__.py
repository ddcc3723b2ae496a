"""What is needed from outside, as narrow Protocols: a store and its transactions, models, clocks, ids."""
