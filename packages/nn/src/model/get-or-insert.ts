/**
 * The value of a key, which is made and inserted if the map has none: `Map.prototype.getOrInsertComputed` of
 * ECMAScript, which few engines have.
 */
export function getOrInsertComputed<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
