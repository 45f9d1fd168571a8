/** What a reader who is no statistician needs to know of a report that compares two models. */
export const HOW_TO_READ: readonly string[] = [
  'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing of groups that were excluded, or of why rates differ: a gap is a reason to look, and no gap is not proof of fair treatment.',
  'An interval holds the values that the data are compatible with at its level. The interval of a metric is made for the gap itself and holds for all pairs of groups together; the intervals of groups are of each group by itself, and two that overlap can still belong to groups that differ.',
  'Both models are judged on the same held-out rows, which neither was trained on. The change has no interval of its own: where the two intervals are wide, a change of a few points may be chance.',
  'The gate judges the point estimate. Where the interval straddles the threshold, another sample could turn the verdict. An undefined metric is no pass.',
  'Small groups have wide intervals, and their rates are more often extreme by chance alone. Groups with too few rows take no part; they are listed with their counts and are not thereby treated evenly.',
];
