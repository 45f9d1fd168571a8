// Declares optional packages without types, so that the sources compile if the packages are not installed. See
// scripts/peers.
declare module '@clickhouse/client';
declare module '@tensorflow/tfjs-backend-webgpu';
declare module 'pg';
declare module 'webgpu';
