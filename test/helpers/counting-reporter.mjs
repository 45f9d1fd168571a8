import mocha from 'mocha';

/**
 * The spec reporter, with a last line of counts for scripts. It is plain JavaScript, because mocha loads reporters before
 * types can be removed.
 */
export default class CountingReporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      console.log(`${passes} passed, ${failures} failed, ${pending} skipped`);
    });
  }
}
