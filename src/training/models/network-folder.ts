/** The name of the folder of a sweep's network. */
export function networkFolder(eta: number): string {
  return `eta-${String(eta)}`;
}
