/** One section of the navigation. */
export interface Section {
  readonly title: string;
  /** The paths of its pages in the project. */
  readonly pages: readonly string[];
  /** Whether the section is open at first. Default: false. */
  readonly isOpen?: boolean;
}

const docs = (...names: readonly string[]): string[] => names.map((name) => `docs/${name}.md`);

/** The navigation of the site. Titles of pages are their first headings. A test checks that no page is missing. */
export const sections: readonly Section[] = [
  {
    title: 'Start',
    isOpen: true,
    pages: [
      'README.md',
      ...docs(
        'fairness-in-20-minutes',
        'which-metric',
        'reading-a-report',
        'faq',
        'glossary',
        'installing',
        'migrating',
      ),
    ],
  },
  {
    title: 'Tutorials by role',
    isOpen: true,
    pages: docs(
      'tutorials/data-scientist',
      'tutorials/typescript-engineer',
      'tutorials/platform-engineer',
      'tutorials/auditor',
      'tutorials/llm-team',
    ),
  },
  {
    title: 'Measure',
    pages: docs(
      'measuring',
      'statistics',
      'subgroups',
      'workbench',
      'reports',
      'verifying',
      'compliance',
      'counts',
      'scaling',
      'coverage',
    ),
  },
  {
    title: 'Train and mitigate',
    pages: docs(
      'training',
      'training-sweeps',
      'reductions',
      'thresholds',
      'calibration',
      'estimators',
      'models',
      'workflow',
      'configuration',
      'detectors',
      'transformers',
      'tracking',
      'gpu',
      'performance',
    ).concat('docs/gpu/README.md'),
  },
  {
    title: 'Monitor',
    pages: docs(
      'monitoring',
      'dashboard',
      'monitoring-records',
      'alert-sinks',
      'drift-detectors',
      'sequential',
      'ab-testing',
      'alarms',
    ),
  },
  { title: 'Language models', pages: docs('llm-evals', 'llm-metrics') },
  { title: 'Run it', pages: docs('command-line', 'service', 'deploying', 'errors').concat('examples/README.md') },
  {
    title: 'Reference',
    pages: docs(
      'reference/README',
      'reference/cli',
      'reference/config-pipeline',
      'reference/config-llm-eval',
      'reference/config-gates',
      'reference/http',
      'reference/library/evenhand',
      'reference/library/metrics',
      'reference/library/stats',
      'reference/library/training',
      'reference/library/pipeline',
      'reference/library/integration',
      'reference/library/monitoring',
      'reference/library/llm-evals',
      'reference/library/api',
      'reference/library/io',
      'reference/library/exceptions',
    ),
  },
  {
    title: 'The project',
    pages: docs('architecture', 'quality', 'benchmarks', 'trials', 'dependencies').concat(
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
    ),
  },
];
