// Changelogs for readers: the notes as they were written, without hashes and authors.
module.exports = {
  getReleaseLine: async ({ summary }) => {
    const [title, ...body] = summary.trim().split('\n');
    return `**${title}**\n${body.join('\n')}`;
  },
  getDependencyReleaseLine: async (_changesets, updated) =>
    updated.length === 0
      ? ''
      : `Depends on ${updated.map(({ name, newVersion }) => `${name} ${newVersion}`).join(', ')}.`,
};
