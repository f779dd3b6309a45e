// Rules for titles of commits and changesets.

/** The longest title, in characters. */
export const maxLength = 72;

/**
 * The faults of a title, as sentences; empty for a good title. Only the first word shows whether a title is
 * an imperative ("Add a mask"): a noun with an article, a pronoun, or another form of a verb does not begin
 * one.
 */
export function titleFaults(title) {
  const faults = [];
  const length = [...title].length;
  const [first = ''] = title.split(/[\s,:]/);
  if (length > maxLength) faults.push(`has ${length} characters (at most ${maxLength})`);
  if (/[.…]$/.test(title)) faults.push('ends with a full stop');
  if (!/^\p{Lu}/u.test(title)) faults.push('does not begin with a capital letter');
  if (!isImperative(first)) faults.push(`begins with "${first}", which is not the imperative of a verb`);
  return faults;
}

/** Words that do not begin an imperative: articles, pronouns, prepositions and such. */
const others = new Set(
  (
    'a an the this that these those it its i we you they he she our their my your one two all each every some any no none not both ' +
    'what which who whose where when why how whether if as at by for from in into of on onto over than through to under upon with ' +
    'without within and or but because since so then there here nothing everything results tests fewer more less most'
  ).split(' '),
);
/** Imperatives that look like another form of a verb. */
const imperatives = new Set(
  'bring embed exceed feed focus need pass process address express compress seed shed spring string bypass cross dismiss guess access discuss press stress bless miss'.split(
    ' ',
  ),
);

function isImperative(word) {
  const lower = word.toLowerCase();
  if (imperatives.has(lower)) return true;
  if (!/^\p{Lu}\p{Ll}+(?:-\p{Ll}+)*$/u.test(word)) return false;
  return !others.has(lower) && !/(?:ing|ed|s)$/.test(lower);
}

/** The title of a changeset: the first line of its text, after the front matter. */
export function changesetTitle(text) {
  return text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .trim()
    .split('\n')[0]
    .replace(/^#+\s*/, '');
}
