/** Which way a mean may move to be a change. */
export type ChangeDirection = 'up' | 'down' | 'both';

/** The ways, for checks and messages. */
export const CHANGE_DIRECTIONS: readonly ChangeDirection[] = ['up', 'down', 'both'];
