export { cohensD } from './cohens-d.ts';
export { riskRatio } from './risk-ratio.ts';
