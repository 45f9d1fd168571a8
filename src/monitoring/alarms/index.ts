export type { AlertChange, AlertEvent, AlertTransition, AlphaShare, MonitorState, Severity } from './alert-event.ts';
export type { AlertEngineOptions } from './engine-options.ts';
export {
  type EngineSnapshot,
  type EngineUpdate,
  FairnessDriftAndAlertEngine,
} from './fairness-drift-and-alert-engine.ts';
