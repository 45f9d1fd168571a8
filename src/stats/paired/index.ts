export * from './excess-divergence.ts';
export * from './paired-mean.ts';
export * from './sign-flip-test.ts';
