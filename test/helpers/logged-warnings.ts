import { getLogger } from '../../src/internal/logger.ts';

/** Collects what a suite's code logs at the level warn; empty before each test. */
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
