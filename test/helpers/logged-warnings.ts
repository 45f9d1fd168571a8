import { getLogger } from '../../src/internal/logger.ts';

/** Collects the warnings that a suite's code logs. The list is cleared before each test. */
export function useLoggedWarnings(): () => readonly string[] {
  let warnings: string[] = [];
  const logger = getLogger();
  const { warn } = logger;
  beforeEach(() => {
    warnings = [];
    logger.warn = (text: unknown) => {
      warnings.push(String(text));
    };
  });
  afterEach(() => {
    logger.warn = warn;
  });
  return () => warnings;
}
