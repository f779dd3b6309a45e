import type { Text } from '../../text.ts';

export const tiles: Text['tiles'] = {
  row: 'Dasselbe als Kacheln: eine Zeile des Gitters, das im nächsten Kapitel vollständig wird.',
  rowLabel: (at, tiles) => `${at} von ${tiles} Kacheln mit Keys sind besucht`,
  masked: (tile, skipped, tested, whole) =>
    `Kacheln von ${tile} × ${tile}: ${skipped} entfallen (gestrichelt), ${tested} werden Paar für Paar geprüft (hell), ${whole} brauchen keine Prüfung (dunkel).`,
  title: 'Dieselbe Schleife, auf der GPU',
  intro:
    'Hier endet das Bild, wohin es führen sollte: im Kernel. Eine Zeile des Gitters ist eine *Arbeitsgruppe*; alle Zeilen laufen zugleich, jede mit ihrer Kachel aus 32 Queries, und gehen über die Kacheln mit Keys. Der Text rechts ist, was die Bibliothek für 32-Bit-Zahlen ohne Optionen erzeugt; ein Test sorgt dafür. Spiel es ab und sieh, an welchen Zeilen das Gitter gerade ist.',
  walkLabel: j =>
    j === null ? 'Keine Kachel mit Keys wird besucht' : `Jede Arbeitsgruppe besucht die Kachel ${j} mit Keys`,
  source: 'WGSL des Vorwärtskernels',
  phases: {
    tile: {
      title: 'Welche Kachel',
      what: 'Die Nummer der Arbeitsgruppe sagt, welche Queries welchen Kopfes die ihren sind.',
    },
    state: { title: 'Der Zustand', what: 'Maximum m, Nenner l und Zähler acc jeder Zeile, in Registern.' },
    loop: { title: 'Die nächsten Keys', what: 'Die Schleife über Kacheln mit Keys: dein inneres `FOR`.' },
    scores: {
      title: 'Scores',
      what: 'Q und K gehen durch den Speicher der Arbeitsgruppe; jede Lane macht einen Block von 4 × 4 aus S.',
    },
    mask: {
      title: 'Skalieren und maskieren',
      what: 'Eine Kachel, die ganz zu sehen ist, überspringt die Prüfungen.',
    },
    maximum: { title: 'Das Maximum', what: '`MAX`, über die Lanes, die sich eine Zeile teilen.' },
    weights: { title: 'Die Gewichte', what: '`SUB` und `EXP`: höchstens 1, nie ein Überlauf.' },
    sum: { title: 'Der Nenner', what: 'Mit exp(m − m′) umgerechnet, dann kommen die neuen Gewichte dazu.' },
    output: {
      title: 'Der Zähler',
      what: 'Mit demselben Faktor umgerechnet, dann kommt P·V dazu. Danach ist P fort.',
    },
    lanes: { title: 'Eine Summe je Zeile', what: 'Die Lanes einer Zeile summieren ihre Nenner.' },
    store: { title: 'Teilen und speichern', what: 'Eine Division, ein STORE: O, und lse für rückwärts.' },
  },
};
