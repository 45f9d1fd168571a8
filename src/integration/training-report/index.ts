export {
  generateTrainingFairnessReport,
  TRAINING_REPORT_FORMATS,
  type TrainingReportFormat,
  type TrainingReportOptions,
} from './generate-training-fairness-report.ts';
export type { ReportedTraining } from './training-kinds.ts';
