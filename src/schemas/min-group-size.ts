/** The default minimum number of rows of a group; smaller groups are excluded and listed. */
export const DEFAULT_MIN_GROUP_SIZE = 30;

/** The sentence about the default at the end of the option's description. */
export const MIN_GROUP_SIZE_DEFAULT = `Default: ${String(DEFAULT_MIN_GROUP_SIZE)}.`;
