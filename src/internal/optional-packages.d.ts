// Declares optional packages without types, so that the sources compile if the packages are not installed. See
// scripts/peers.
declare module '@clickhouse/client';
declare module '@tensorflow/tfjs-backend-webgpu';
declare module 'bullmq';
declare module 'gpt-tokenizer/encoding/cl100k_base';
declare module 'gpt-tokenizer/encoding/o200k_base';
declare module 'hive-driver';
declare module 'ioredis';
declare module 'kafkajs';
declare module 'onnxruntime-node';
declare module 'onnxruntime-web';
declare module 'pg';
declare module 'trino-client';
declare module 'webgpu';
