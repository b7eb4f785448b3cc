/** Options of the programs that only read, whatever their options. A program with another option belongs elsewhere. */

/** One program a line, and its aliases: letters of its options, then long names, in the notation of `Rule`. */
const FILE_READERS = `
cat | AbeEnstTuv | show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting
head | c:n:qvz0123456789 | bytes= lines= quiet silent verbose zero-terminated
tail | c:f::Fn:qs:vz0123456789rb: | bytes= follow=? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose zero-terminated
wc | cmlLw | bytes chars lines files0-from= max-line-length words
ls dir vdir ll | aAbBcCdDfF::gGhHiI:klLmnNop:qQrRsStT:uUvw:xXZ1@eOPW | all almost-all author escape block-size= ignore-backups color=? directory dired classify=? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink=? indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero
stat | Lftc:xrsF | dereference file-system cached= printf= terse format=
du | 0aB:bcDd:HhkLlmPSst:X:xg | null all apparent-size block-size= bytes total dereference-args max-depth= files0-from= human-readable inodes dereference count-links no-dereference separate-dirs si summarize threshold= time=? time-style= exclude-from= exclude= one-file-system
df | aB:hHiklPt:Tx:vcmgY | all block-size= human-readable si inodes local no-sync output=? portability sync total type= print-type exclude-type=
cut | b:c:d:f:nszM | bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated
paste | d:sz | delimiters= serial zero-terminated
comm | 123zi | check-order nocheck-order output-delimiter= total zero-terminated
diff | qsc::C::u::U::enyW:pF:tTlrNx:X:S:iEZbwBI:aD:dv0123456789 | normal brief report-identical-files context=? unified=? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= suppress-blank-empty paginate recursive no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude= exclude-from= starting-file= from-file= to-file= ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr ifdef= GTYPE-group-format= line-format= LTYPE-line-format= minimal horizon-lines= speed-large-files color=? palette= no-color word-diff
cmp | bi:ln:sv | print-bytes ignore-initial= verbose bytes= quiet silent
column | tn:O:N:l:E:deH:R:T:W:LJr:i:p:c:o:s:xhV | table table-name= table-order= table-columns= table-columns-limit= table-noextreme= table-noheadings table-header-repeat table-hide= table-right= table-truncate= table-wrap= keep-empty-lines json tree= tree-id= tree-parent= output-width= output-separator= separator= fillrows
fold | bsw: | bytes spaces width=
fmt | cp:stuw:g:0123456789 | crown-margin prefix= split-only tagged-paragraph uniform-spacing width= goal=
nl | b:d:f:h:i:l:n:ps:v:w: | body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width=
od | A:j:N:S::t:vw::abcdfilosxh | address-radix= endian= skip-bytes= read-bytes= strings=? format= output-duplicates width=? traditional
hexdump | bcCdoxL::e:f:n:s:vhV | one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex color=? format= format-file= length= skip= no-squeezing
strings | adfn:t:w:oT:e:Us:hvV0123456789 | all data print-file-name bytes= radix= include-all-whitespace= target= encoding= unicode= output-separator=
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum sum md5 | bctzwa:0UpqrsU | binary check tag text zero ignore-missing quiet status strict warn algorithm=
b2sum | bcl:tzw | binary check length= tag text zero ignore-missing quiet status strict warn
cksum | a:cl:zw | algorithm= check length= tag untagged zero ignore-missing quiet status strict warn debug
readlink | femnqsvz | canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero
realpath | emLPqsz | canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip no-symlinks zero
tac | brs: | before regex separator=
rev | hV
look | adft:hV | alternative alphanum ignore-case terminate=
expand | it:0123456789 | initial tabs=
unexpand | at: | all first-only tabs=
pr | C:acdD:e::Ffh:i::Jl:mn::N:o:rs::S::tTvw:W:0123456789 | columns= across show-control-chars double-space date-format= expand-tabs=? form-feed header= output-tabs=? join-lines length= merge number-lines=? first-line-number= indent= no-file-warnings separator=? sep-string=? omit-header omit-pagination show-nonprinting width= page-width=
tsort
jps | lmvq
join | a:e:ij:o:t:v:1:2:z | ignore-case check-order nocheck-order header zero-terminated
grep egrep fgrep zgrep zegrep zfgrep | EFGPe:f:iwxzsvVm:bnHhoqaId:D:rRLlcTZB:A:C:N:U0123456789y | extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive dereference-recursive include= exclude= exclude-from= exclude-dir= files-without-match files-with-matches count initial-tab null before-context= after-context= context= group-separator= no-group-separator color=? colour=? binary include-dir=
jq | cnesrRCMSajf:L: | tab arg argjson slurpfile rawfile args jsonargs null-input raw-input slurp compact-output raw-output raw-output0 join-output ascii-output sort-keys color-output monochrome-output indent= unbuffered stream stream-errors seq exit-status from-file= library-path= slurpfile= rawfile=
nm | aABC::Def:gjlnopPrSst:uUWXhV | debug-syms print-file-name demangle=? no-demangle recurse-limit no-recurse-limit= dynamic format= extern-only ifunc-chars= just-symbols line-numbers numeric-sort no-sort portability reverse-sort print-size print-armap quiet size-sort special-syms synthetic radix= target= undefined-only defined-only unicode= no-weak with-symbol-versions
objdump | afpP:hxdDSsgeGW:LtTrRviHb:m:j:M:E:I:lFC::wU::z | archive-headers file-headers private-headers private= all-headers disassemble=? disassemble-all source source-comment=? full-contents debugging debugging-tags stabs dwarf= process-links ctf=? sframe=? syms dynamic-syms reloc dynamic-reloc info target= architecture= section= disassembler-options= endian= file-start-context include= line-numbers file-offsets demangle=? recurse-limit no-recurse-limit wide unicode= disassemble-zeroes start-address= stop-address= no-addresses prefix-addresses insn-width= adjust-vma= show-all-symbols special-syms inlines prefix= prefix-strip= dwarf-depth= dwarf-start= dwarf-check ctf-parent= visualize-jumps=? disassembler-color=
readelf | ahlSgtesC::U::nrudVAcDLx:p:R:zw:PIWT:Hv | all file-header program-headers segments section-headers sections section-groups section-details headers syms symbols dyn-syms lto-syms sym-base= demangle=? no-demangle recurse-limit no-recurse-limit unicode= notes relocs unwind dynamic version-info arch-specific archive-index use-dynamic lint hex-dump= string-dump= relocated-dump= decompress debug-dump= process-links dwarf-depth= dwarf-start= ctf= ctf-parent= ctf-symbols= ctf-strings= sframe=? histogram wide silent-truncation=
size | Aotfhv0123456789 | common target=
addr2line | ab:e:ij:psfC::Rrhv | addresses target= exe= inlines section= pretty-print basenames functions demangle=? recurse-limit no-recurse-limit
c++filt | _ntipsr | demangler no-params
zcat bzcat xzcat zmore | fqvkdcl | force quiet verbose
otool | aAcdDfFgGhHijlLMnoOpPrRsStTvVxX
dwarfdump | a | all
base32 basenc | diw: | decode ignore-garbage wrap=
numfmt | d:zM | debug delimiter= field= format= from= from-unit= grouping header=? invalid= padding= round= suffix= to= to-unit= zero-terminated
namei | xmolnv | mountpoints modes owners long nosymlinks vertical
lsattr | RaVdlpv
getfacl | aceEsRLPtpn | access default omit-header all-effective no-effective skip-base recursive logical physical tabular numeric absolute-names
eza exa lsd | 1lGRTxFdaArsSifDgbBhHimMtuUn@L:I: | long grid tree recurse all almost-all oneline level= git icons=? color=? colour=? sort= reverse group-directories-first classify only-dirs only-files ignore-glob= git-ignore header human-readable no-permissions no-filesize no-user no-time time-style= total-size depth= size= date= blocks= group-dirs=
tokei | fse:ot:C | files sort= exclude= languages types= compact hidden no-ignore
scc | s:i:w | by-file no-cocomo no-complexity sort= exclude-dir= include-ext=
cloc | q | by-file by-file-by-lang exclude-dir= exclude-lang= include-lang= include-ext= exclude-ext= vcs= quiet json yaml csv md sum-one fullpath match-f= not-match-f= match-d= not-match-d= git diff progress-rate= hide-rate
ack | ilLwvnhHcQoxsA:B:C:m:gf1 | ignore-case type= color nocolor count after-context= before-context= context= heading noheading group nogroup smart-case sort-files ignore-dir= literal
gron | uvcmsj | ungron values colorize monochrome stream json no-sort
hexyl | n:s:cvo: | length= skip= color= border= no-squeezing display-offset=
mediainfo | f | full
pdfinfo | f:l:u: | meta
colordiff difft delta | us: | unified=? display= color= side-by-side line-numbers width=
mdcat vdir ccat cowsay figlet fortune banner | w:f:
sensors acpi | fuAbsacti
lsmod lsipc ipcs lsns sar iostat mpstat numastat upower vm_stat sw_vers | aAbBcdDefghijJklmMnNopPqrStuUvVxXyzZ | productVersion productName buildVersion
lsusb lspci | vtns:d:kD | tree verbose
`;

/** The same for programs that print facts about the system, the time or their arguments. */
const STATE_READERS = `
lsblk | ADE:I:JMOPST::abde:filmno:prstw:x:yzhV | noempty discard dedup= include= json merge output-all pairs scsi tree=? all bytes nodeps exclude= fs ascii list perms noheadings output= paths raw inverse topology width= sort= shell zoned sysroot=
lscpu | abBC::cJe::p::s:xyhV | all online bytes caches=? offline json extended=? parse=? sysroot= hex physical output-all
free | bkmghltvs:c:wV | bytes kilo mega giga tera peta kibi mebi gibi tebi pebi human si lohi total committed seconds= count= wide
uptime | phsV | pretty since
nproc |  | all ignore=
uname | asnrvmpio | all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system
id | aZgGnruzAFPp | context group groups name real user zero
who w | abdHlmpqrstTwuh | all boot dead heading ips login lookup process count runlevel short time mesg users message writable
last lastlog | adf:Fin:Rs:t:p:wxhV0123456789 | hostlast dns file= fulltimes ip limit= nohostname since= until= present= fullnames system time-format=
whoami arch logname hostid tty pwd true false yes sleep reset clear users groups | LP | 
vmstat | afmnsdDp:S:wtyhV | active forks slabs one-header stats disk disk-sum partition= unit= wide timestamp no-first
pgrep | d:lavwcfg:G:inoO:P:s:t:u:U:xF:Lr:AhV | delimiter= list-name list-full inverse lightweight count full pgroup= group= ignore-case newest oldest older= parent= session= terminal= euid= uid= exact pidfile= logpidfile runstates= ignore-ancestors cgroup= ns= nslist=
pidof | sxcqo: | single-shot
pstree | acGhlnpsStTuUA | arguments compact-not long show-pids ascii unicode numeric-sort thread-names
ps | aAdeEfFgGhHjlLMmNnOoprsStTuUvVwwxXZyk:q:C: | sort= forest format= pid= ppid= user= group= no-headers headers cols= columns= width= rows= tty= deselect info quick-pid= context cumulative sid=
lsof | aAbcCdeEfFgi::KlLMnNoOpPqQrRs::tTuUvVwxXz: |
netstat | rigsMvWnNepoclaFCZtux46bfI: | route interfaces groups statistics masquerade verbose wide numeric numeric-hosts numeric-ports numeric-users symbolic extend programs timers continuous listening all fib cache context
ss | nalremopiusbtxw460hHOMSEzZNKf:A: | numeric resolve all listening options extended memory processes info summary ipv4 ipv6 tcp udp unix family= query= no-header oneline
which whereis type | aspvfPtb | all skip-alias skip-functions
getconf | a
printenv | 0 | null
locale | amck | all-locales charmaps keyword-name category-name
cal ncal | 13jmsywnhNbCp:A:B: | one three monday sunday julian year week months=
tput | T:
stty | agF: | all save file=
uuidgen mcookie | rtn:N:msx:v | random time
dnsdomainname
cowthink
findmnt | smkAaCcDfilnJorPRuUyvt:o:S:T:M: | json list output= raw types= target= source= df notruncate real
sw_vers system_profiler ascii | x | json xml
nvidia-smi | Lq: | list-gpus query-gpu= format= query
tldr whatis apropos | lsp: | list update
kpsewhich | | var-value= format=
envsubst | v | variables
pkg-config | | cflags libs exists modversion list-all print-errors variable= atleast-version= cflags-only-I libs-only-l libs-only-L static
ifconfig | asv
top | bn:d:p:u:o:cHis1w:E:e:l:
getopt | o:l:n:qQs:Tua | options= longoptions= name= quiet quiet-output shell= alternative unquoted
units | tvq1 | terse verbose
factor | h | exponents
bc | lqsw | mathlib quiet standard
`;

export type ReaderOptions = { readonly names: string; readonly short: string; readonly long: string };

function linesOf(table: string): readonly ReaderOptions[] {
  const lines = table.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [names = "", short = "", long = ""] = line.split("|").map((part) => part.trim());
    return { names, short, long };
  });
}

export const fileReaders: readonly ReaderOptions[] = linesOf(FILE_READERS);
export const stateReaders: readonly ReaderOptions[] = linesOf(STATE_READERS);
