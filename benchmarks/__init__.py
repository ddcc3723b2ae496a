"""Programs that measure and prove; run them with make bench and make proof."""
