"""Moving data in and out: readers of other systems' files, Holdfast's own export, and Markdown for people."""
