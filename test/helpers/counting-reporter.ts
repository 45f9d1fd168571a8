import mocha from 'mocha';

/** The spec reporter, with a last line of counts for scripts. */
export default class CountingReporter extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options?: mocha.MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      console.log(`${String(passes)} passed, ${String(failures)} failed, ${String(pending)} skipped`);
    });
  }
}
