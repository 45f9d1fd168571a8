export {
  gapIntervals,
  type GapIntervalOptions,
  type GapIntervals,
  type MeanFamily,
  type RateFamily,
} from './gap-interval.ts';
export { type Interval, wilsonInterval } from './proportion-interval.ts';
export { quantileSorted } from './quantile.ts';
