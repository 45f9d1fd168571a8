/** max_weight is maxWeight. */
export function toCamelCase(snake: string): string {
  return snake.replaceAll(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** maxWeight is max_weight, adjustedPValue adjusted_p_value; a name of one capital letter, as `T`, stays as it is. */
export function toSnakeCase(camel: string): string {
  return camel.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
