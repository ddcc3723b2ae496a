"""Serve a GGUF file on loopback in OpenAI's shape, until its input ends: python model_server.py FILE."""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 16_384
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
params.hostnames = ["127.0.0.1"]
params.port = 0
params.use_jinja = True
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
