"""Moving data in and out: readers of other systems' files, Memhold's own export, and Markdown for people."""
