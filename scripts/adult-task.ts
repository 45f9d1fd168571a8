/** The features of Adult that every comparison with other libraries uses: 42 columns once encoded. */
export const ADULT_FEATURES = [
  'age',
  'education-num',
  'capital-gain',
  'capital-loss',
  'hours-per-week',
  'workclass',
  'marital-status',
  'occupation',
  'relationship',
];

/** What is predicted, and for whom. */
export const ADULT_TASK = { target: 'income-per-year', positiveLabel: '>50K', sensitive: 'sex' } as const;
