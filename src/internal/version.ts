/** The version of this package, equal to the version in package.json. */
export const VERSION = '0.9.0';
