/**
 * A page that does what pages do when they start: it compiles a script, runs functions for the first time,
 * makes elements, and lays them out. The processor time of this page tells how fast a machine starts pages.
 */
export const referencePage = `<!doctype html>
<style>li { display: inline-block; padding: 2px; border: 1px solid }</style>
<ul></ul>
<script>
const list = document.querySelector('ul');
${Array.from({ length: 1500 }, (_, n) => element(n)).join('\n')}
list.offsetHeight;
requestAnimationFrame(() => setTimeout(() => performance.mark('start-ready')));
</script>`;

function element(n: number): string {
  return `(function element${n}(width) {
  const item = document.createElement('li');
  item.textContent = ['number', ${n}, 'of', list.children.length].join(' ');
  item.style.width = width + 'px';
  list.append(item);
})(${60 + (n % 50)});`;
}
