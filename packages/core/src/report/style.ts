/** One light page that also prints well. Nothing in it is loaded from anywhere. */
export const style = `
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0 auto;max-width:840px;padding:32px 24px 64px;background:#fff;color:#1c2430;font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:26px;line-height:1.25;margin:0 0 6px}
h2{font-size:19px;margin:36px 0 10px;padding-bottom:6px;border-bottom:1px solid #d8dee8}
h3{font-size:15px;margin:20px 0 6px}
h4{font-size:16px;margin:18px 0 6px}
h5{font-size:14px;margin:14px 0 4px}
p{margin:8px 0;white-space:pre-line}
.meta,figcaption,.faint{color:#5a6675;font-size:13px}
.question{margin:10px 0;padding:10px 14px;background:#f2f5fa;border-left:3px solid #7b8da8;white-space:pre-line}
.answer{padding:2px 0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(112px,1fr));gap:10px;margin:14px 0;padding:0}
.figures div{border:1px solid #d8dee8;border-radius:6px;padding:8px 12px}
.figures dt{color:#5a6675;font-size:12px}
.figures dd{margin:0;font-size:17px;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%;margin:10px 0;font-size:13px}
th,td{text-align:left;vertical-align:top;padding:5px 8px;border-bottom:1px solid #e3e8f0}
th{font-weight:600;color:#3d4855}
td.claim{min-width:9em}
td.w,th.w{white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.list{list-style:none;margin:8px 0;padding:0}
.list li{display:flex;gap:8px;margin:3px 0}
.list li>span{flex:none;min-width:14px}
.list .d1{margin-left:20px}.list .d2{margin-left:40px}.list .d3{margin-left:60px}.list .d4{margin-left:80px}
pre{background:#f6f8fb;border:1px solid #e3e8f0;border-radius:6px;padding:10px;overflow-x:auto;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap}
code{font:.92em ui-monospace,Menlo,Consolas,monospace;background:#f2f5fa;padding:1px 4px;border-radius:3px}
blockquote{margin:8px 0;padding-left:12px;border-left:3px solid #d8dee8;color:#3d4855}
.address{color:#5a6675;font-size:12px}
.word{display:inline-block;border-radius:10px;padding:0 9px;font-size:12px;line-height:20px;border:1px solid currentcolor}
.held,.done,.ok{color:#146c43}.stated,.waiting,.cut{color:#8a5a00}.unheld,.failed,.bad-word{color:#a8201a}.running,.cancelled{color:#3d4855}
figure{margin:12px 0}.wide{overflow-x:auto}
svg{display:block;width:100%;min-width:620px;height:auto}
svg text{font:11px system-ui,sans-serif;fill:#3d4855}
svg .grid{stroke:#e3e8f0}svg .first{stroke:#1c2430;stroke-width:1.5}
rect.agent,.key.agent{fill:#8fa3c7;background:#8fa3c7}rect.model,.key.model{fill:#3a9188;background:#3a9188}
rect.tool,.key.tool{fill:#d69e2e;background:#d69e2e}rect.bad,.key.bad{fill:#c53030;background:#c53030}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;margin:0 3px 0 10px;vertical-align:-1px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.run{margin-top:8px}
footer{margin-top:48px;color:#5a6675;font-size:12px}
@media print{
@page{margin:16mm}
body{max-width:none;padding:0;font-size:11pt}
h2,h3,h4,h5{break-after:avoid}
tr,figure,.figures div,.list li,.question{break-inside:avoid}
.run+.run{break-before:page}
rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}
svg{min-width:0}.wide{overflow:visible}
}
`
