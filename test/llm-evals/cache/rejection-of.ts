/** Returns the error with which a promise rejects. Throws if it resolves. */
export async function rejectionOf(
  promise: Promise<unknown>,
): Promise<Error & { context?: Record<string, unknown>; suggestion?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not rejected');
}
