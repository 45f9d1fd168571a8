import { use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';

// A page can hide labels that overlap, because it can show them again when the reader zooms.
use(LabelLayout);

export { init } from './echarts.ts';
