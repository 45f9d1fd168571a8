export * from './cell.ts';
export * from './difference-in-differences.ts';
export * from './logit-interaction.ts';
export * from './newcombe-interval.ts';
export * from './power.ts';
