export * from './fisher-exact-test.ts';
export * from './kolmogorov-smirnov.ts';
export * from './population-stability-index.ts';
export * from './share-distances.ts';
export * from './standard-deviation-threshold.ts';
export * from './wasserstein-distance.ts';
