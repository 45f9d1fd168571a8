export { cohensD, riskRatio } from './effect-size.ts';
