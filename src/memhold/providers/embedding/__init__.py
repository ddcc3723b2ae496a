"""Embedding models: OpenAI-compatible APIs, Ollama, and a model directory on this machine."""
