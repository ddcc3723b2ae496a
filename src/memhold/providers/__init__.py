"""How models are reached: catalog, classifier, chain, protocols, embeddings."""
