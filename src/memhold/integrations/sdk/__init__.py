"""What `memhold.wrap` is made of: the APIs of the providers' SDKs, what of a request is new, a conversation."""
