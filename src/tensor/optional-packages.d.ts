// Optional packages without types here, so that the sources compile without them; see scripts/peers.
declare module 'webgpu';
declare module '@tensorflow/tfjs-backend-webgpu';
