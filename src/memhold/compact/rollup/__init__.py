"""Roll-ups: what happened in a day, a week, a month, made of the summaries of its windows, which stay."""
